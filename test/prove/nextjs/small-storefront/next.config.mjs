export default { typescript: { ignoreBuildErrors: true }, eslint: { ignoreDuringBuilds: true } };
