import{b as e,d as t,o as n}from"./chunk-DUINVML4.js";var i=e(t(),1);function l(){return(0,i.jsx)(n,{title:"Sign in",children:null})}export{l as default};
