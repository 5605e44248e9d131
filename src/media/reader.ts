/**
 * Process of `InputVideo.ts`: reads one base64 text per line and writes a JSON array of the videos'
 * lengths in seconds, null where one cannot be read.
 */
import { text } from "node:stream/consumers"
import { videoSeconds } from "./videoSeconds.ts"

const lines = (await text(process.stdin)).split("\n")

process.stdout.write(JSON.stringify(lines.map((line) => videoSeconds(Buffer.from(line, "base64")))))
