// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// The code that every forwarder clone runs by delegatecall. It has no state and obeys only the factory that created it,
/// and the factory passes only the treasury from which the clone's address was derived.
contract Forwarder {
    address private immutable factory;

    constructor() {
        factory = msg.sender;
    }

    /// An address without code accepts coin with any data, so the forwarder does the same once it is deployed.
    /// Plain sends never reach this: the clone itself accepts them within 2300 gas.
    fallback() external payable {}

    receive() external payable {}

    /// `token` zero means the native coin. Reverts without data, because the clone passes none on.
    function forward(address token, address treasury, uint256 amount) external {
        if (msg.sender != factory) revert();
        bool moved;
        if (token == address(0)) {
            // Assembly, because a Solidity call copies the whole answer, however long the treasury makes it.
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
                // An empty answer is success (USDT); otherwise the answer must be exactly true.
                let answered := returndatasize()
                moved := and(moved, or(iszero(answered), and(gt(answered, 31), eq(mload(0), 1))))
            }
        }
        if (!moved) revert();
    }
}
