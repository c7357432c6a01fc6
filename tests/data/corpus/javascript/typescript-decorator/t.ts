function logged(value: unknown, context: unknown) { return value }
class A { @logged method() {} }
export default { name: "t", transform: () => [{ id: new A() ? "a" : "" }] }
