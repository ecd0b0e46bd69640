// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// What every forwarder clone runs by delegatecall. It keeps no state and obeys nobody but the factory that created it,
/// and the factory names only the treasury that the clone's own address was derived from.
contract Forwarder {
    address private immutable factory;

    constructor() {
        factory = msg.sender;
    }

    /// An address accepts coin before its code exists whatever data comes along, so it does the same afterwards.
    /// Plain sends never reach this: the clone itself accepts them within 2300 gas.
    fallback() external payable {}

    receive() external payable {}

    /// `token` zero means the native coin. Reverts without data, because the clone passes none on.
    function forward(address token, address treasury, uint256 amount) external {
        if (msg.sender != factory) revert();
        bool moved;
        if (token == address(0)) {
            // Assembly, because a Solidity call copies the answer however long the treasury makes it.
            assembly ("memory-safe") {
                moved := call(gas(), treasury, amount, 0, 0, 0, 0)
            }
        } else {
            assembly ("memory-safe") {
                let data := mload(0x40)
                mstore(data, shl(224, 0xa9059cbb)) // transfer(address,uint256)
                mstore(add(data, 4), treasury)
                mstore(add(data, 36), amount)
                mstore(0, 0)
                moved := call(gas(), token, 0, data, 68, 0, 32)
                // Nothing returned is success (USDT); otherwise the answer must be exactly true.
                let answered := returndatasize()
                moved := and(moved, or(iszero(answered), and(gt(answered, 31), eq(mload(0), 1))))
            }
        }
        if (!moved) revert();
    }
}
