/**
 * The open page while its code is loaded, and a notice where the code cannot be loaded, the page
 * cannot be shown or the key lacks the page's scopes.
 */
import { Alert, Button, Center, Loader, Stack, Text, Title } from "@mantine/core"
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

/** A fault of the console itself. It is on this page alone: the menu and other pages work. */
const PageFault = ({ error }: { readonly error: unknown }) => {
  const { t } = useTranslation()
  return (
    <Alert color="red" role="alert" title={t("pageFault")}>
      <Stack gap="xs" align="flex-start">
        <Text size="sm">{t("pageFaultHint")}</Text>
        <Text size="sm" className="said">
          {error instanceof Error ? error.message : String(error)}
        </Text>
        <Button size="xs" variant="default" onClick={reload}>
          {t("again")}
        </Button>
      </Stack>
    </Alert>
  )
}

class PageBoundary extends Component<{ readonly children: ReactNode }> {
  static getDerivedStateFromError(error: unknown) {
    return { error }
  }
  override state: { readonly error: unknown } = { error: null }
  override render() {
    const { error } = this.state
    if (error === null) return this.props.children
    return failureOf(error).code === "unreachable" ? (
      <LoadFailure error={error} />
    ) : (
      <PageFault error={error} />
    )
  }
}

/** What is shown of a page while its code is loaded, or cannot be. */
export const PageFrame = ({ children }: { readonly children: ReactNode }) => (
  <PageBoundary>
    <Suspense
      fallback={
        <Center h={200}>
          <Loader />
        </Center>
      }
    >
      {children}
    </Suspense>
  </PageBoundary>
)

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
    <PageFrame key={name}>
      <View />
    </PageFrame>
  )
}
