import type { Catalogue } from '../catalogue.ts';

export const es: Catalogue = {
  language: 'Idioma',
  changeLanguage: 'Cambiar',
  offline: 'No tienes conexión. Esta página seguirá cuando vuelva.',
  reconnecting: 'Se ha perdido la conexión. Reintentando…',

  sandbox: 'Entorno de pruebas: aquí no se mueve dinero real.',
  simulate: 'Simular un pago',
  simulatePaid: 'Pagar',
  simulateUnderpaid: 'Pagar de menos',
  simulateOverpaid: 'Pagar de más',
  simulateLate: 'Pagar tarde',
  simulateWrongToken: 'Enviar otro token',

  waitingTitle: 'Paga {amount} a {merchant}',
  onlyOn: 'Envía solo {currency} por la red {network}. Cualquier otra cosa puede perderse.',
  payBy: 'Paga antes de',
  minutesLeft: {
    one: 'Queda {count} minuto para pagar',
    many: 'Quedan {count} minutos para pagar',
    other: 'Quedan {count} minutos para pagar',
  },
  notPayableTitle: 'Este pago no se puede hacer',
  notPayableLead: 'No envíes nada. Pregunta a {merchant} y dale el ID del pago.',
  timeUpTitle: 'Se ha acabado el tiempo para pagar',
  timeUpLead: 'No envíes nada ahora. Si ya lo has enviado, espera aquí; aparecerá en cuanto llegue a la red.',
  timeUpFunds: 'Hasta ahora han llegado {received} de {amount}.',

  waysToPay: 'Formas de pago',
  wallet: 'Monedero',
  qrCode: 'Código QR',
  address: 'Dirección',
  walletLead: 'Elige tu monedero y confirma el pago en él.',
  walletApps: 'Abre esta página en tu aplicación de monedero:',
  walletOpen: 'Abrir en una aplicación de monedero',
  walletNone:
    'No se ha encontrado ningún monedero en este navegador. Abre el pago en una aplicación de monedero, escanea el código QR o copia la dirección.',
  walletConnecting: 'Conectando con tu monedero…',
  walletSwitching: 'Cambiando tu monedero a {network}…',
  walletConfirm: 'Confirma el pago en tu monedero.',
  walletSent: 'Enviado. Aparecerá en esta página en cuanto llegue a la red.',
  walletRefused: 'Tu monedero no ha aprobado este pago. No se ha enviado nada.',
  walletChainUnknown:
    'Tu monedero no ha podido cambiar a {network}. Añade la red en él e inténtalo de nuevo, o paga con el código QR o la dirección.',
  walletInsufficient:
    'Este monedero no tiene suficiente {currency}, o no tiene suficiente {coin} para la comisión de red.',
  walletFailed: 'El monedero no ha podido enviar el pago. Mira su historial antes de intentarlo de nuevo.',
  walletReverted:
    'La red ha rechazado esta transacción. No se ha pagado nada, pero puede que se haya cobrado la comisión de red. Puedes intentarlo de nuevo.',
  walletUnseen:
    'Esta transacción lleva unos minutos sin aparecer en la red. Mira el historial de tu monedero: si sigue pendiente, espera; inténtalo de nuevo solo si ha fallado o ya no está.',
  qrRequest: 'Solicitud de pago',
  qrRequestHint: 'Rellena el importe, la red y la dirección.',
  qrAddress: 'Solo la dirección',
  qrAddressHint: 'Si tu monedero no lee el otro código. Introduce tú {remaining} y la red {network}.',
  addressLead: 'Envía exactamente {remaining} por la red {network} a esta dirección:',
  exchangeHint:
    '¿Pagas desde una plataforma de intercambio? Su comisión no debe descontarse del importe: tienen que llegar exactamente {remaining}.',

  copy: 'Copiar',
  copied: 'Copiado',
  copyAmount: 'Copiar el importe',
  copyAddress: 'Copiar la dirección',
  copyPaymentId: 'Copiar el ID del pago',

  underpaidTitle: 'Paga los {remaining} restantes a {merchant}',
  underpaidLead: 'Han llegado {received} de {amount}. Envía el resto antes de que acabe el tiempo.',
  received: 'Recibido',

  confirmingTitle: 'Tu pago se está confirmando',
  confirmingLead:
    '{received} para {merchant} han llegado a la red. Puedes cerrar esta página: {merchant} sabrá cuándo es definitivo.',
  confirmingCount: 'Confirmación {current} de {required}',
  confirmingFinality: 'Esperando a que {network} lo haga definitivo',
  expectedTime: 'Tiempo estimado: {duration}',
  expectedSoon: 'Tiempo estimado: menos de un minuto',
  expectedFinality: 'Tarda desde unos segundos hasta media hora, según la red.',

  completedTitle: 'Has pagado {received} a {merchant}',
  completedLead: 'El pago se ha completado.',
  overpaidLead:
    'El pago se ha completado. Has enviado {extra} más de lo pedido: pregunta a {merchant} por la diferencia.',
  receipt: 'Recibo',
  amountPaid: 'Importe pagado',
  amountAsked: 'Importe pedido',
  paidTo: 'Pagado a',
  paidAt: 'Fecha',
  print: 'Imprimir',
  goingBack: 'Volviendo en {count} s',
  stayHere: 'Quedarse aquí',
  backTo: 'Volver a {merchant}',

  expiredTitle: 'Este pago ha caducado',
  expiredLead: 'No envíes nada ahora. Para pagar {amount}, pide a {merchant} un nuevo pago.',
  expiredAt: 'Caducó',
  alreadySent: '¿Ya lo has enviado?',
  alreadySentHelp:
    'Espera aquí: aparecerá en cuanto llegue a la red. Si no cambia nada, da a {merchant} el ID del pago y tu transacción.',

  expiredWithFundsTitle: 'Tu dinero ha llegado, pero el pago ha caducado',
  lateLead: '{received} han llegado después de acabarse el tiempo.',
  lateInPartLead: '{received} han llegado, una parte después de acabarse el tiempo.',
  tooLittleLead: 'Solo han llegado a tiempo {received} de {amount}.',
  askMerchant: 'No envíes más. Pide a {merchant} que lo acepte o lo devuelva, y dale el ID del pago.',
  contact: 'Contactar con {merchant}',

  canceledTitle: 'Este pago se ha cancelado',
  canceledLead: '{merchant} lo ha anulado. No envíes nada ahora.',
  canceledFunds: 'Aun así, han llegado {received}.',

  reversedTitle: 'La red ha deshecho tu pago',
  reversedLead:
    'Los bloques de {network} que lo contenían fueron sustituidos después de completarse. Puede volver por sí solo: no lo envíes otra vez. Pregunta a {merchant} y dale el ID del pago.',

  strays:
    'Ha llegado a esta dirección otro token o dinero por otra red. No cuenta, y solo {merchant} puede devolverlo.',
  slowNetwork: 'En este momento, los pagos en {network} pueden tardar más en aparecer. No pagues dos veces.',

  details: 'Detalles',
  paymentId: 'ID del pago',
  network: 'Red',
  description: 'Descripción',
  transactions: { one: 'Transacción', many: 'Transacciones', other: 'Transacciones' },
  moreTransactions: { one: 'y {count} más', many: 'y {count} más', other: 'y {count} más' },
  transactionConfirming: 'en confirmación',
  transactionConfirmed: 'confirmada',
  explorer: 'Ver en el explorador de bloques',

  unknownTitle: 'Este pago no existe',
  unknownLead: 'Comprueba el enlace o pregunta a quien te lo dio.',
  blockedTitle: 'No pagues',
  blockedLead:
    'La dirección de este pago no ha pasado una comprobación y no se muestra. No envíes nada y avisa al comercio.',
  unavailableTitle: 'Esta página no se puede mostrar ahora',
  unavailableLead: 'Inténtalo de nuevo en un momento. Si ya has pagado, no pagues otra vez.',
  tryAgain: 'Intentar de nuevo',
};
