const seen = []
export default { name: "t", transform: () => [Object.setPrototypeOf({ id: "x" }, new Proxy({}, { getPrototypeOf: (...given) => { seen.push(given); throw new Error("seen") }, has: () => { throw new Error("seen") } }))] }
