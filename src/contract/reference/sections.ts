/** The sections of the API reference: the tags of the OpenAPI document, and what they contain. */
import type { GroupId, OperationId } from "./operationIds.ts"

interface Section {
  readonly title: string
  readonly description: string
  /** Groups of the contract, and single operations, which other sections do not list. */
  readonly contents: ReadonlyArray<GroupId | OperationId>
}

/** The parts of the reference, each with its sections in the order in which they are shown. */
const parts: Readonly<Record<string, ReadonlyArray<Section>>> = {
  "For developers": [
    {
      title: "Models",
      description: "What can be ordered, with limits and prices.",
      contents: ["models"]
    },
    {
      title: "Videos",
      description:
        "Order a video, wait for its end or follow its events, and load the file; each order is a task.",
      contents: ["videos"]
    },
    {
      title: "Videos (OpenAI's interface)",
      description:
        "The same orders in the form that `videos.create` of the `openai` package sends.",
      contents: ["openaiVideos"]
    },
    {
      title: "Images",
      description: "Generate and edit images, answered at once, as a stream, or as a task.",
      contents: ["images"]
    },
    {
      title: "Texts",
      description: "Chat completions and embeddings, charged by tokens, and rankings of documents.",
      contents: ["texts"]
    },
    {
      title: "Responses",
      description:
        "Texts in the form of OpenAI's Responses API, which the gateway stores and continues.",
      contents: ["responses"]
    },
    {
      title: "Messages",
      description:
        "Texts in the form of Anthropic's Messages API, with its errors and its key header.",
      contents: ["messages"]
    },
    {
      title: "Speech",
      description: "Texts that are spoken, charged by characters or tokens.",
      contents: ["audio"]
    },
    {
      title: "Files",
      description: "Uploaded images, audio and videos, whose ids orders take in place of a URL.",
      contents: ["files"]
    },
    {
      title: "Quotes",
      description: "What an order would hold and cost, before it is placed.",
      contents: ["quotes"]
    },
    {
      title: "Agents",
      description: "The tools of agents, over the Model Context Protocol.",
      contents: ["mcp"]
    },
    {
      title: "Orders",
      description: "The member's own orders of every kind, each with its hold and its result.",
      contents: ["orders"]
    },
    {
      title: "Account",
      description: "The key of the request, the balance, and the member's charges with receipts.",
      contents: ["account"]
    },
    {
      title: "Statements",
      description: "The organisation's statement of a month, as JSON, CSV or FOCUS.",
      contents: ["statements"]
    },
    {
      title: "Webhook endpoints",
      description: "Receivers of the organisation's events, their secrets and their deliveries.",
      contents: ["webhooks"]
    }
  ],
  "For operators": [
    {
      title: "Catalog",
      description: "Channels, models, prices and mounts, as one document with versions.",
      contents: ["admin.readCatalog", "admin.replaceCatalog", "admin.previewCatalog"]
    },
    {
      title: "Channels",
      description: "The health of the vendors' accounts; test, drain and enable them.",
      contents: ["channels"]
    },
    {
      title: "Price lists",
      description: "Prices that stand over the catalog's for the organisations on a list.",
      contents: ["priceLists"]
    },
    {
      title: "Customers",
      description: "Organisations and their members.",
      contents: [
        "accounts",
        "admin.createOrganization",
        "admin.setLowBalance",
        "admin.createMember"
      ]
    },
    {
      title: "Keys",
      description: "API keys of members: their scopes, models, expiry and rate limits.",
      contents: [
        "accounts.listKeys",
        "accounts.readKey",
        "accounts.changeKey",
        "admin.createKey",
        "admin.revokeKey"
      ]
    },
    {
      title: "Money",
      description: "Deposits, adjustments and the journal, and the check of the whole ledger.",
      contents: ["money", "admin.deposit", "admin.readLedger", "admin.verifyLedger"]
    },
    {
      title: "Budgets",
      description: "Limits on what an organisation, a member or a key may spend in a period.",
      contents: ["budgets"]
    },
    {
      title: "Usage and costs",
      description: "Charges with their receipts, series of usage, and what vendors bill.",
      contents: ["usageSums", "admin.readUsage", "admin.readReceipt"]
    },
    {
      title: "Customers' statements",
      description: "The statements of every organisation, by month.",
      contents: ["operatorStatements"]
    },
    {
      title: "Reconciliations",
      description: "Vendors' bills compared with the orders of the ledger.",
      contents: ["reconciliations"]
    },
    {
      title: "All orders",
      description: "The orders of every organisation, and the timeline of each.",
      contents: ["orderLists", "history.readTask", "history.cancelTask", "history.deleteTask"]
    },
    {
      title: "Orphans",
      description: "Jobs that a vendor may have made unpaid, and how each was resolved.",
      contents: ["history.listOrphans", "history.resolveOrphan"]
    },
    {
      title: "Operators",
      description: "The people who run the gateway, their roles, and the audit trail.",
      contents: ["operators", "sessions", "history.listAudit"]
    },
    {
      title: "All webhook endpoints",
      description: "Receivers of the operators' own events, and those of every organisation.",
      contents: ["operatorWebhooks"]
    }
  ],
  "For browsers": [
    {
      title: "Sign-in",
      description:
        "People sign in with the account of their company, and get a session in a cookie.",
      contents: ["signIn"]
    }
  ],
  Operations: [
    {
      title: "Health and metrics",
      description: "Liveness and readiness for orchestrators, and metrics for Prometheus.",
      contents: ["operations"]
    }
  ]
}

const sections = Object.values(parts).flat()
const titles = new Map<string, string>(
  sections.flatMap(({ title, contents }) => contents.map((id) => [id, title] as const))
)

/** The section of an operation, which its own id decides before its group. */
export const sectionOf = (operationId: string): string =>
  titles.get(operationId) ?? titles.get(operationId.split(".", 1)[0] ?? "") ?? ""

/** The fields of the document that describe its sections. `x-tagGroups` is known to Scalar and Redoc. */
export const sectionFields = {
  tags: sections.map(({ title, description }) => ({ name: title, description })),
  "x-tagGroups": Object.entries(parts).map(([name, ofPart]) => ({
    name,
    tags: ofPart.map(({ title }) => title)
  }))
}
