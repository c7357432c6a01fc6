export default { name: "t", transform() { const text = "0123456789".repeat(1 << 17); return Array.from({ length: 30 }, (_, id) => ({ id, text })) } }
