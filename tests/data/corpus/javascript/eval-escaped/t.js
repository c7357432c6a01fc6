export default { name: "t", transform: () => [{ id: String(\u0065val("2")) }] }
