import type { RequestListener } from "node:http";
import { ENVIRONMENT_HEADER, type Endpoint } from "@giftcard-pay/client/contract";
import { type OperationName, operations, pathTo } from "../operations.js";
import { CallContext } from "./call-context.js";
import { type CallOptions, Calls } from "./calls.js";
import { type OperatorView, operatorRoutes } from "./operator-routes.js";
import { answerRefusal } from "./refusal-answer.js";
import { Routes } from "./routes.js";

export interface AppOptions extends CallOptions {
  readonly operatorView: OperatorView;
}

/** Creates the listener for all operations and the operators' routes. */
export function createApp(options: AppOptions): RequestListener {
  const routes = new Routes();
  const calls = new Calls(options);
  for (const operation of Object.keys(operations) as OperationName[]) {
    const row: Endpoint = operations[operation];
    const bare = pathTo(operation);
    for (const path of [bare, `${bare}/`]) {
      routes.add(row.method, path, (exchange) => calls.answer(new CallContext(exchange, operation)));
      routes.add("*", path, () => answerRefusal(row, "method_not_allowed"));
    }
  }
  operatorRoutes(routes, options.operatorView);
  return routes.listener(options.log, { [ENVIRONMENT_HEADER]: options.operatorView.environment });
}
