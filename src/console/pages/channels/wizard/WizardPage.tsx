/** The wizard that adds a vendor: its channel, models and prices, applied in one step. */
import { Alert, Group, Stack, Text, Title } from "@mantine/core"
import { useEffect, useRef, useState } from "react"
import { useTranslation } from "react-i18next"
import { useApiQuery, useSession } from "../../../gateway/hooks.tsx"
import { hasRole } from "../../../gateway/session.ts"
import { BackLink } from "../../../parts/controls/BackLink.tsx"
import { QueryView } from "../../../parts/QueryView.tsx"
import { readCatalog } from "../../catalog/draft/catalogCalls.ts"
import type { CatalogVersion } from "../../catalog/draft/storedDraft.ts"
import { AccountStep } from "./AccountStep.tsx"
import { ModelStep } from "./ModelStep.tsx"
import { type NewVendor, newVendorOf } from "./newVendor.ts"
import { PriceStep } from "./PriceStep.tsx"
import { Applied, ReviewStep } from "./ReviewStep.tsx"
import { VendorStep } from "./VendorStep.tsx"

const steps = ["vendor", "account", "models", "prices", "review"] as const
type Step = (typeof steps)[number]

const StepList = ({ current }: { readonly current: Step }) => {
  const { t } = useTranslation("wizard")
  return (
    <Group component="ol" gap="4px 12px" m={0} p={0} style={{ listStyle: "none" }}>
      {steps.map((step, index) => (
        <Text
          key={step}
          component="li"
          size="sm"
          {...(step === current ? { fw: 700, "aria-current": "step" as const } : { c: "dimmed" })}
        >
          {index + 1}. {t(`steps.${step}`)}
        </Text>
      ))}
    </Group>
  )
}

const Steps = ({
  base,
  isRefreshing,
  onRefresh
}: {
  readonly base: CatalogVersion
  readonly isRefreshing: boolean
  readonly onRefresh: () => void
}) => {
  const { t } = useTranslation("wizard")
  const [step, setStep] = useState<Step>("vendor")
  const [newVendor, setNewVendor] = useState<NewVendor | null>(null)
  const [appliedVersion, setAppliedVersion] = useState<number | null>(null)
  const [isOutdated, setOutdated] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  const shownStep = useRef<Step>(step)
  useEffect(() => {
    if (shownStep.current === step) return
    shownStep.current = step
    heading.current?.focus()
  }, [step])
  const { document } = base
  const go = (next: Step) => () => setStep(next)
  const content = () => {
    if (newVendor === null || step === "vendor") {
      return (
        <VendorStep
          onChoose={(vendor) => {
            if (newVendor?.vendor !== vendor) setNewVendor(newVendorOf(document, vendor))
            setStep("account")
          }}
        />
      )
    }
    const fields = { document, newVendor, onChange: setNewVendor }
    switch (step) {
      case "account":
        return <AccountStep {...fields} onNext={go("models")} onBack={go("vendor")} />
      case "models":
        return <ModelStep {...fields} onNext={go("prices")} onBack={go("account")} />
      case "prices":
        return <PriceStep {...fields} onNext={go("review")} onBack={go("models")} />
      case "review":
        return (
          <ReviewStep
            // A newer catalog is validated again.
            key={base.version}
            base={base}
            newVendor={newVendor}
            isRefreshing={isRefreshing}
            onConflict={() => {
              setOutdated(true)
              onRefresh()
            }}
            onApply={setAppliedVersion}
            onBack={go("prices")}
          />
        )
    }
  }
  if (newVendor !== null && appliedVersion !== null) {
    return <Applied version={appliedVersion} newVendor={newVendor} />
  }
  return (
    <Stack>
      <StepList current={step} />
      <Title order={2} size="h4" ref={heading} tabIndex={-1} style={{ outline: "none" }}>
        {t(`steps.${step}`)}
        {newVendor === null || step === "vendor" ? null : ` · ${newVendor.vendor.name}`}
      </Title>
      {isOutdated ? (
        <Alert color="orange" role="alert">
          {t("newer")}
        </Alert>
      ) : null}
      {content()}
    </Stack>
  )
}

const WizardPage = () => {
  const { t } = useTranslation("wizard")
  const { t: channels } = useTranslation("channels")
  const { t: shell } = useTranslation()
  const { session } = useSession()
  const catalog = useApiQuery(["catalog"], readCatalog)
  return (
    <Stack maw={800}>
      <div>
        <BackLink href="/" label={channels("back")} />
        <Title order={1}>{t("title")}</Title>
        <Text c="dimmed">{t("lead")}</Text>
      </div>
      {hasRole(session, "operator") ? (
        <QueryView query={catalog} lines={8}>
          {(base) => (
            <Steps
              base={base}
              isRefreshing={catalog.isFetching}
              onRefresh={() => void catalog.refetch()}
            />
          )}
        </QueryView>
      ) : (
        <Text>{shell("noRight")}</Text>
      )}
    </Stack>
  )
}
export default WizardPage
