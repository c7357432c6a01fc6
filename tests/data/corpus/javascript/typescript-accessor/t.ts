class A { accessor x = "a" }
export default { name: "t", transform: () => [{ id: new A().x }] }
