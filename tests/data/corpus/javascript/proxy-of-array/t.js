export default { name: "t", transform: () => new Proxy([{ id: "x" }], {}) }
