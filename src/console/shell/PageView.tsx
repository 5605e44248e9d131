/**
 * The open page while its code is loaded, and a notice where the code cannot be loaded or the key
 * lacks the page's scopes.
 */
import { Alert, Center, Loader, Stack, Title } from "@mantine/core"
import { Component, type ReactNode, Suspense, useEffect, useState } from "react"
import { useTranslation } from "react-i18next"
import { failureOf } from "../gateway/failures.ts"
import { useHasScopes, useMe } from "../gateway/me.ts"
import { Offline, useIsOnline } from "../gateway/network.ts"
import { FailureNote } from "../parts/FailureNote.tsx"
import type { Page } from "./pages.ts"

const reload = () => window.location.reload()

/** React keeps the failure of code that was not loaded, so the whole console is loaded again. */
const LoadFailure = ({ error }: { readonly error: unknown }) => {
  const isOnline = useIsOnline()
  const [wasOffline] = useState(!isOnline)
  useEffect(() => {
    if (wasOffline && isOnline) reload()
  }, [wasOffline, isOnline])
  return wasOffline ? (
    <FailureNote error={new Offline()} />
  ) : (
    <FailureNote error={error} onRetry={reload} />
  )
}

class LoadBoundary extends Component<{ readonly children: ReactNode }> {
  static getDerivedStateFromError(error: unknown) {
    return { error }
  }
  override state: { readonly error: unknown } = { error: null }
  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    // Other errors are faults of the console, which nothing here can mend.
    if (failureOf(error).code !== "unreachable") throw error
    return <LoadFailure error={error} />
  }
}

export const PageView = ({ page: { name, scopes = [], view: View } }: { readonly page: Page }) => {
  const { t } = useTranslation()
  const { data: me } = useMe()
  const isAllowed = useHasScopes(...scopes)
  if (!isAllowed && me !== undefined) {
    return (
      <Stack>
        <Title order={1}>{t(`pages.${name}`)}</Title>
        <Alert color="orange" role="status">
          {t("needsScope", { scopes: scopes.join(` ${t("or")} `), has: me.scopes.join(", ") })}
        </Alert>
      </Stack>
    )
  }
  return (
    <LoadBoundary>
      <Suspense
        fallback={
          <Center h={200}>
            <Loader />
          </Center>
        }
      >
        <View />
      </Suspense>
    </LoadBoundary>
  )
}
