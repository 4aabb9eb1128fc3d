declare module "worker:*" {
  /** The bundled worker. */
  const text: string;
  export default text;
}
