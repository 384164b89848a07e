import type { ReactNode } from "react";

const Layout = ({ children }: { children: ReactNode }) => (
  <html lang="en">
    <body>
      {/* A test reads a payment's name and its amount as two words. */}
      <style>{"li { display: flex; justify-content: space-between }"}</style>
      {children}
    </body>
  </html>
);

export default Layout;
