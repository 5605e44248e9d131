/**
 * The entry script of the console: loads the texts, the theme and the session, and shows the page
 * of the address.
 */
import "@mantine/core/styles.css"
import "@mantine/notifications/styles.css"
import "./console.css"
import { MantineProvider } from "@mantine/core"
import { Notifications } from "@mantine/notifications"
import { QueryClient, QueryClientProvider } from "@tanstack/react-query"
import { setNonce } from "get-nonce"
import { StrictMode } from "react"
import { createRoot } from "react-dom/client"
import { Router } from "wouter"
import { failureOf } from "./gateway/failures.ts"
import { SessionProvider } from "./gateway/hooks.tsx"
import { restoreSession } from "./gateway/signIn.ts"
import { App } from "./shell/App.tsx"
import { theme, variables } from "./shell/theme.ts"
import { startWords } from "./words/words.ts"

/** The page's content security policy allows libraries to add styles that have this nonce. */
const nonce =
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? undefined
if (nonce !== undefined) setNonce(nonce)

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // Refused requests are not retried, since they would be refused again. The typed client
      // already retries other failures.
      retry: (times, error) => times < 1 && failureOf(error).code === "unreachable",
      // Whatever was loaded before the browser was offline may be out of date.
      refetchOnReconnect: "always"
    },
    // An action is refused while the browser is offline. If it waited, it would be sent later, after
    // its user has left.
    mutations: { networkMode: "always" }
  }
})

const root = document.querySelector("#root")
if (root === null) throw new Error("the page has no root")

await Promise.all([startWords(), restoreSession()])

createRoot(root).render(
  <StrictMode>
    <MantineProvider
      theme={theme}
      cssVariablesResolver={variables}
      defaultColorScheme="auto"
      {...(nonce === undefined ? {} : { getStyleNonce: () => nonce })}
    >
      <QueryClientProvider client={queries}>
        <SessionProvider>
          <Notifications position="bottom-right" />
          <Router base="/console">
            <App />
          </Router>
        </SessionProvider>
      </QueryClientProvider>
    </MantineProvider>
  </StrictMode>
)
