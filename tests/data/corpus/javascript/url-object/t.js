export default { name: "t", transform: () => [{ id: "x", v: new URL("https://example.org") }] }
