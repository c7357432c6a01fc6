export default { name: "t", transform: () => [{ id: "s", text: [..."ab"].join("\udc00") }] }
