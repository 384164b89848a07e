export const paymentInfoMap: Record<string, { title: string } | undefined> = {
  pp_system_default: { title: "Manual Payment" },
};
