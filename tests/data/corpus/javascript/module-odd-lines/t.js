const a = 1 // o const b = " "const c = `x
y`
export default { name: "t", transform: () => [{ id: `${a}`, c, b, n: c.length }] }
