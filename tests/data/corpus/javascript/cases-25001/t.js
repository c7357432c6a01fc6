export default { name: "t", async transform() { return Array.from({ length: 25_001 }, (_, id) => ({ id })) } }
