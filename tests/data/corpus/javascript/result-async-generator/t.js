export default { name: "t", async *transform() { yield { id: "x" } } }
