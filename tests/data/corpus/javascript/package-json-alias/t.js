import tool from "#tool"
export default { name: "t", transform: () => [{ id: tool }] }
