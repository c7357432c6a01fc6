import "./three.js"
import { log } from "./log.js"
await null
log.push("two")
