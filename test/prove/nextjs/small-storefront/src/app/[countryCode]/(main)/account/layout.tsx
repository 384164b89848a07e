import type { ReactNode } from "react";

const Account = ({ dashboard }: { dashboard: ReactNode }) => dashboard;

export default Account;
