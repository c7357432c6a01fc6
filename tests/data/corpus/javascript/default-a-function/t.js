export default function transform() { return [{ id: "x" }] }
