/** The console's first script: its texts, its theme, its session, and the page that the address names. */
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
import { App } from "./shell/App.tsx"
import { theme, variables } from "./shell/theme.ts"
import { startWords } from "./words/words.ts"

/** By it the page's policy lets libraries add the styles they make. */
const nonce =
  document.querySelector<HTMLMetaElement>('meta[property="csp-nonce"]')?.nonce ?? undefined
if (nonce !== undefined) setNonce(nonce)

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5_000,
      // What was refused is refused again; the typed client has repeated the rest.
      retry: (times, error) => times < 1 && failureOf(error).code === "unreachable"
    }
  }
})

const root = document.querySelector("#root")
if (root === null) throw new Error("the page has no root")

await startWords()

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
