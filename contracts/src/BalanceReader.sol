// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Never deployed. Run as creation code in an eth_call, it returns the balances of many holders at one block, one word
/// each. One call per holder would take as many requests. `token` zero means the native coin.
contract BalanceReader {
    constructor(address token, address[] memory holders) {
        uint256[] memory balances = new uint256[](holders.length);
        for (uint256 i = 0; i < holders.length; ++i) {
            if (token == address(0)) {
                balances[i] = holders[i].balance;
                continue;
            }
            (bool answered, bytes memory answer) = token.staticcall(abi.encodeWithSelector(0x70a08231, holders[i]));
            require(answered && answer.length == 32, "no balance");
            balances[i] = abi.decode(answer, (uint256));
        }
        assembly ("memory-safe") {
            return(add(balances, 32), mul(mload(balances), 32))
        }
    }
}
