import { Row } from "./rows.ts"
export default { name: "t", transform: () => [{ id: "x" } as Row] }
