export const h = "h"
