export default { name: "t", transform() { let value = "in"; for (let i = 0; i < 64; i++) value = [value]; return [{ id: "d", value }] } }
