/**
 * All pages of the console: their addresses, who sees them in the menu, and their code, which is
 * loaded when a page is opened.
 */
import {
  IconActivity,
  IconBook2,
  IconCoins,
  IconDiscount,
  IconFileText,
  IconKey,
  IconLayoutDashboard,
  IconListDetails,
  IconListSearch,
  IconPlugConnected,
  IconRobot,
  IconSparkles,
  IconStack2,
  IconTags,
  IconUserShield,
  IconUsers,
  IconWebhook
} from "@tabler/icons-react"
import { type ComponentType, lazy } from "react"
import type { Scope } from "../../services/Access.ts"
import type { Session } from "../gateway/session.ts"

/**
 * `developer` pages call the gateway with an API key, `operator` pages with an operator's token.
 */
export type Side = "developer" | "operator"

export interface Page {
  /** The key of its name in the texts of the shell. */
  readonly name:
    | "playground"
    | "orders"
    | "models"
    | "money"
    | "key"
    | "webhooks"
    | "overview"
    | "allOrders"
    | "channels"
    | "catalog"
    | "priceLists"
    | "books"
    | "customers"
    | "operators"
    | "health"
    | "agents"
    | "docs"
  /** Whose page it is; null for a page of both sides. */
  readonly side: Side | null
  readonly path: string
  /** The scopes of which the page needs at least one in the API key. */
  readonly scopes?: ReadonlyArray<Scope>
  readonly icon: ComponentType<{ readonly size?: number; readonly stroke?: number }>
  readonly view: ComponentType
}

export const pages: ReadonlyArray<Page> = [
  {
    name: "playground",
    side: "developer",
    path: "/playground",
    scopes: ["videos", "images", "chat", "embeddings", "rerank", "audio"],
    icon: IconSparkles,
    view: lazy(() => import("../pages/playground/PlaygroundPage.tsx"))
  },
  {
    name: "orders",
    side: "developer",
    path: "/orders",
    scopes: ["videos", "images"],
    icon: IconListDetails,
    view: lazy(() => import("../pages/orders/OrdersPage.tsx"))
  },
  {
    name: "models",
    side: "developer",
    path: "/models",
    scopes: ["models"],
    icon: IconStack2,
    view: lazy(() => import("../pages/models/ModelsPage.tsx"))
  },
  {
    name: "money",
    side: "developer",
    path: "/money",
    scopes: ["usage", "statements"],
    icon: IconCoins,
    view: lazy(() => import("../pages/money/MoneyPage.tsx"))
  },
  {
    name: "webhooks",
    side: "developer",
    path: "/webhooks",
    scopes: ["webhooks"],
    icon: IconWebhook,
    view: lazy(() => import("../pages/webhooks/WebhooksPage.tsx"))
  },
  {
    name: "key",
    side: "developer",
    path: "/key",
    icon: IconKey,
    view: lazy(() => import("../pages/key/KeyPage.tsx"))
  },
  {
    name: "overview",
    side: "operator",
    path: "/overview",
    icon: IconLayoutDashboard,
    view: lazy(() => import("../pages/overview/OverviewPage.tsx"))
  },
  {
    name: "allOrders",
    side: "operator",
    path: "/all-orders",
    icon: IconListSearch,
    view: lazy(() => import("../pages/orders/AllOrdersPage.tsx"))
  },
  {
    name: "customers",
    side: "operator",
    path: "/customers",
    icon: IconUsers,
    view: lazy(() => import("../pages/customers/CustomersPage.tsx"))
  },
  {
    name: "channels",
    side: "operator",
    path: "/channels",
    icon: IconPlugConnected,
    view: lazy(() => import("../pages/channels/ChannelsPage.tsx"))
  },
  {
    name: "catalog",
    side: "operator",
    path: "/catalog",
    icon: IconTags,
    view: lazy(() => import("../pages/catalog/CatalogPage.tsx"))
  },
  {
    name: "priceLists",
    side: "operator",
    path: "/price-lists",
    icon: IconDiscount,
    view: lazy(() => import("../pages/priceLists/PriceListsPage.tsx"))
  },
  {
    name: "books",
    side: "operator",
    path: "/books",
    icon: IconBook2,
    view: lazy(() => import("../pages/books/BooksPage.tsx"))
  },
  {
    name: "operators",
    side: "operator",
    path: "/operators",
    icon: IconUserShield,
    view: lazy(() => import("../pages/operators/OperatorsPage.tsx"))
  },
  {
    name: "health",
    side: "operator",
    path: "/health",
    icon: IconActivity,
    view: lazy(() => import("../pages/health/HealthPage.tsx"))
  },
  {
    name: "agents",
    side: null,
    path: "/agents",
    icon: IconRobot,
    view: lazy(() => import("../pages/agents/AgentsPage.tsx"))
  },
  {
    name: "docs",
    side: null,
    path: "/docs",
    icon: IconFileText,
    view: lazy(() => import("../pages/docs/DocsPage.tsx"))
  }
]

/** The sides that a session has a key or a token for. */
export const sidesOf = ({ apiKey, operator }: Session): ReadonlyArray<Side> => [
  ...(apiKey === null ? [] : (["developer"] as const)),
  ...(operator === null ? [] : (["operator"] as const))
]

/** The pages that a session opens. */
export const pagesOf = (session: Session): ReadonlyArray<Page> => {
  const sides = sidesOf(session)
  return pages.filter(({ side }) => (side === null ? sides.length > 0 : sides.includes(side)))
}
