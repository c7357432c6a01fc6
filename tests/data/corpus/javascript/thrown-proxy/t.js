export default { name: "t", transform() { throw new Proxy(() => {}, { get() { throw new Error("inner") } }) } }
