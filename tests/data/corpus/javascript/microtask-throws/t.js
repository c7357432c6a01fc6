export default { name: "t", transform: () => new Promise(() => queueMicrotask(() => { throw new Error("lost in a microtask") })) }
