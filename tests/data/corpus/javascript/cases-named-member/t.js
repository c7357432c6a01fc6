export default { name: "t", transform: () => Object.assign([{ id: "a" }], { meta: 1 }) }
