export default { name: "t", transform: () => [{ id: import.meta.dirname }] }
