/** Every page of the console: its address, who has it in the menu, and its code, loaded when it is opened. */
import {
  IconActivity,
  IconBook2,
  IconCoins,
  IconKey,
  IconListDetails,
  IconListSearch,
  IconPlugConnected,
  IconSparkles,
  IconTags,
  IconWebhook
} from "@tabler/icons-react"
import { type ComponentType, lazy } from "react"
import type { Scope } from "../../services/Access.ts"

/** `developer` pages ask with an API key, `operator` pages with an operator's token. */
export type Side = "developer" | "operator"

export interface Page {
  /** Its name among the texts of the shell. */
  readonly name:
    | "playground"
    | "orders"
    | "money"
    | "webhooks"
    | "allOrders"
    | "channels"
    | "catalog"
    | "books"
    | "access"
    | "health"
  readonly side: Side
  readonly path: string
  /** One of them is what the page asks of an API key. */
  readonly scopes?: ReadonlyArray<Scope>
  readonly icon: ComponentType<{ readonly size?: number; readonly stroke?: number }>
  readonly view: ComponentType
}

export const pages: ReadonlyArray<Page> = [
  {
    name: "playground",
    side: "developer",
    path: "/playground",
    scopes: ["videos", "images", "chat", "embeddings"],
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
    name: "allOrders",
    side: "operator",
    path: "/all-orders",
    icon: IconListSearch,
    view: lazy(() => import("../pages/orders/AllOrdersPage.tsx"))
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
    name: "books",
    side: "operator",
    path: "/books",
    icon: IconBook2,
    view: lazy(() => import("../pages/books/BooksPage.tsx"))
  },
  {
    name: "access",
    side: "operator",
    path: "/access",
    icon: IconKey,
    view: lazy(() => import("../pages/access/AccessPage.tsx"))
  },
  {
    name: "health",
    side: "operator",
    path: "/health",
    icon: IconActivity,
    view: lazy(() => import("../pages/health/HealthPage.tsx"))
  }
]
