export default { name: "t", transform: () => [{ id: "x", then(ok) { ok({ id: "other" }) } }] }
