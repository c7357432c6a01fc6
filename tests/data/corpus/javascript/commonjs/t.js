module.exports = { name: "t", transform: () => [{ id: "c" }] }
