const Weak = globalThis["Weak" + "Ref"]
export default { name: "t", transform: () => [{ id: String(new Weak({}).deref() === undefined) }] }
