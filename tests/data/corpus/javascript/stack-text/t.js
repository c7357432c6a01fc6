export default { name: "t", transform() { const holder = {}; Error.captureStackTrace(holder); return [{ id: new TypeError("m").stack, holder: holder.stack }] } }
