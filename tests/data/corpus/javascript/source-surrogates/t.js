export default { name: "t", transform: ({ sources }) => [{ id: sources.rows.content }] }
