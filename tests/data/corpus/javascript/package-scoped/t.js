import { z } from "@some/schema/v4"
export default { name: "t", transform: () => [{ id: z }] }
