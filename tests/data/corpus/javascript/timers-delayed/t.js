export default { name: "t", async transform() { await new Promise((done) => setTimeout(done, 5)); return [{ id: "late" }] } }
