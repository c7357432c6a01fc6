export default { name: "t", transform() { const self = { then(ok) { ok(self) } }; return self } }
