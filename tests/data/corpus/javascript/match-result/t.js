export default { name: "t", transform: () => [{ id: "x", v: /b(.)/.exec("abc") }] }
