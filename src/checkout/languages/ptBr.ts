import type { Catalogue } from '../catalogue.ts';

export const ptBr: Catalogue = {
  language: 'Idioma',
  changeLanguage: 'Mudar',
  offline: 'Você está sem conexão. Esta página continua quando ela voltar.',
  reconnecting: 'A conexão caiu. Tentando de novo…',

  sandbox: 'Ambiente de testes: aqui não circula dinheiro de verdade.',
  simulate: 'Simular um pagamento',
  simulatePaid: 'Pagar',
  simulateUnderpaid: 'Pagar a menos',
  simulateOverpaid: 'Pagar a mais',
  simulateLate: 'Pagar com atraso',
  simulateWrongToken: 'Enviar o token errado',

  waitingTitle: 'Pague {amount} a {merchant}',
  onlyOn: 'Envie somente {currency} pela rede {network}. Qualquer outra coisa pode se perder.',
  payBy: 'Pague até',
  minutesLeft: {
    one: 'Falta {count} minuto para pagar',
    many: 'Faltam {count} minutos para pagar',
    other: 'Faltam {count} minutos para pagar',
  },
  notPayableTitle: 'Este pagamento não pode ser feito',
  notPayableLead: 'Não envie nada. Fale com {merchant} e informe o ID do pagamento.',
  timeUpTitle: 'O tempo para pagar acabou',
  timeUpLead: 'Não envie nada agora. Se já enviou, espere aqui; o pagamento aparece assim que chegar à rede.',
  timeUpFunds: 'Até agora chegaram {received} de {amount}.',

  waysToPay: 'Formas de pagar',
  wallet: 'Carteira',
  qrCode: 'Código QR',
  address: 'Endereço',
  walletLead: 'Escolha sua carteira e confirme o pagamento nela.',
  walletApps: 'Abra esta página no seu aplicativo de carteira:',
  walletOpen: 'Abrir em um aplicativo de carteira',
  walletNone:
    'Nenhuma carteira foi encontrada neste navegador. Abra o pagamento em um aplicativo de carteira, leia o código QR ou copie o endereço.',
  walletConnecting: 'Conectando à sua carteira…',
  walletSwitching: 'Mudando sua carteira para {network}…',
  walletConfirm: 'Confirme o pagamento na sua carteira.',
  walletSent: 'Enviado. O pagamento aparece nesta página assim que chegar à rede.',
  walletRefused: 'Sua carteira não aprovou este pagamento. Nada foi enviado.',
  walletChainUnknown:
    'Sua carteira não conseguiu mudar para {network}. Adicione a rede nela e tente de novo, ou pague pelo código QR ou pelo endereço.',
  walletInsufficient: 'Esta carteira não tem {currency} suficiente, ou não tem {coin} suficiente para a taxa da rede.',
  walletFailed: 'A carteira não conseguiu enviar o pagamento. Veja o histórico dela antes de tentar de novo.',
  walletReverted:
    'A rede rejeitou esta transação. Nada foi pago, mas a taxa da rede pode ter sido cobrada. Você pode tentar de novo.',
  walletUnseen:
    'Esta transação não aparece na rede há alguns minutos. Veja o histórico da sua carteira: espere se ela ainda estiver pendente e só tente de novo se ela falhou ou sumiu.',
  qrRequest: 'Pedido de pagamento',
  qrRequestHint: 'Preenche o valor, a rede e o endereço.',
  qrAddress: 'Só o endereço',
  qrAddressHint: 'Se sua carteira não lê o outro código. Informe você mesmo {remaining} e a rede {network}.',
  addressLead: 'Envie exatamente {remaining} pela rede {network} para este endereço:',
  exchangeHint:
    'Vai pagar a partir de uma corretora? A taxa dela não pode sair do valor: precisam chegar exatamente {remaining}.',

  copy: 'Copiar',
  copied: 'Copiado',
  copyAmount: 'Copiar o valor',
  copyAddress: 'Copiar o endereço',
  copyPaymentId: 'Copiar o ID do pagamento',

  underpaidTitle: 'Pague os {remaining} restantes a {merchant}',
  underpaidLead: 'Chegaram {received} de {amount}. Envie o restante antes que o tempo acabe.',
  received: 'Recebido',

  confirmingTitle: 'Seu pagamento está sendo confirmado',
  confirmingLead:
    '{received} para {merchant} chegaram à rede. Você pode fechar esta página: {merchant} vai saber quando o pagamento for definitivo.',
  confirmingCount: 'Confirmação {current} de {required}',
  confirmingFinality: 'Aguardando {network} tornar o pagamento definitivo',
  expectedTime: 'Tempo estimado: {duration}',
  expectedSoon: 'Tempo estimado: menos de um minuto',
  expectedFinality: 'Leva de alguns segundos a meia hora, dependendo da rede.',

  completedTitle: 'Você pagou {received} a {merchant}',
  completedLead: 'O pagamento foi concluído.',
  overpaidLead:
    'O pagamento foi concluído. Você enviou {extra} a mais do que o pedido: fale com {merchant} sobre a diferença.',
  receipt: 'Recibo',
  amountPaid: 'Valor pago',
  amountAsked: 'Valor pedido',
  paidTo: 'Pago a',
  paidAt: 'Data',
  print: 'Imprimir',
  goingBack: 'Voltando em {count} s',
  stayHere: 'Ficar aqui',
  backTo: 'Voltar para {merchant}',

  expiredTitle: 'Este pagamento expirou',
  expiredLead: 'Não envie nada agora. Para pagar {amount}, peça um novo pagamento a {merchant}.',
  expiredAt: 'Expirou',
  alreadySent: 'Já enviou?',
  alreadySentHelp:
    'Espere aqui: o pagamento aparece assim que chegar à rede. Se nada mudar, informe a {merchant} o ID do pagamento e a sua transação.',

  expiredWithFundsTitle: 'Seu dinheiro chegou, mas o pagamento expirou',
  lateLead: '{received} chegaram depois do fim do prazo.',
  lateInPartLead: '{received} chegaram, uma parte depois do fim do prazo.',
  tooLittleLead: 'Só {received} de {amount} chegaram dentro do prazo.',
  askMerchant: 'Não envie mais nada. Peça a {merchant} que aceite ou devolva o dinheiro e informe o ID do pagamento.',
  contact: 'Falar com {merchant}',

  canceledTitle: 'Este pagamento foi cancelado',
  canceledLead: '{merchant} cancelou o pagamento. Não envie nada agora.',
  canceledFunds: 'Mesmo assim, chegaram {received}.',

  reversedTitle: 'A rede desfez o seu pagamento',
  reversedLead:
    'Os blocos de {network} que o continham foram substituídos depois da conclusão. Ele pode voltar sozinho: não envie de novo. Fale com {merchant} e informe o ID do pagamento.',

  strays:
    'Outro token, ou dinheiro de outra rede, chegou a este endereço. Isso não conta, e só {merchant} pode devolver.',
  slowNetwork: 'No momento, pagamentos em {network} podem demorar mais para aparecer. Não pague duas vezes.',

  details: 'Detalhes',
  paymentId: 'ID do pagamento',
  network: 'Rede',
  description: 'Descrição',
  transactions: { one: 'Transação', many: 'Transações', other: 'Transações' },
  moreTransactions: { one: 'e mais {count}', many: 'e mais {count}', other: 'e mais {count}' },
  transactionConfirming: 'em confirmação',
  transactionConfirmed: 'confirmada',
  explorer: 'Ver no explorador de blocos',

  unknownTitle: 'Este pagamento não existe',
  unknownLead: 'Confira o link ou pergunte a quem o enviou a você.',
  blockedTitle: 'Não pague',
  blockedLead:
    'O endereço deste pagamento não passou em uma verificação e não é mostrado. Não envie nada e avise o lojista.',
  unavailableTitle: 'Esta página não pode ser mostrada agora',
  unavailableLead: 'Tente de novo em instantes. Se você já pagou, não pague outra vez.',
  tryAgain: 'Tentar de novo',
};
