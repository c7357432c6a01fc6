export default { name: "t", transform: () => ({ then(ok, no) { no(new Error("no rows in sheet 2")) } }) }
