import { log } from "./log.js"
log.push("three")
