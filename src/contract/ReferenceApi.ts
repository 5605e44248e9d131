/**
 * The contract with everything that only its document has: texts, sections, examples, and an entry
 * for each error. Clients load `GatewayApi` without them.
 */
import { OpenApi } from "effect/http-api"
import { GatewayApi } from "./GatewayApi.ts"
import { completeDocument } from "./reference/document.ts"
import { errorSection } from "./reference/errorSection.ts"

const DESCRIPTION = `One API and one key in front of many vendors of generated media.

A video is a task: order it, then read it until it ends. An image is answered at once. The expected
price is held before a vendor is called, what was used is charged, and a failure gives all of it back.

Every answer carries \`x-request-id\`. Every error is
\`{"error":{"message","type","param","code","doc_url"}}\`, and some codes add fields; \`doc_url\` leads to
the code's entry below. \`x-should-retry: false\` marks errors after which a repeat could be paid twice.

${errorSection}`

export class ReferenceApi extends GatewayApi.annotateMerge(
  OpenApi.annotations({
    title: "Media gateway",
    version: "1",
    description: DESCRIPTION,
    license: { name: "MIT" },
    servers: [{ url: "/" }],
    transform: ({ openapi, info, paths, components, security, tags, servers }) =>
      completeDocument({ openapi, info, paths, components, security, tags, servers })
  })
) {}
