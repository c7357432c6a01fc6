export default { name: "t", transform: () => [{ id: "p", data: JSON.parse('{"x":[{"__proto__":{"admin":true}}]}') }] }
