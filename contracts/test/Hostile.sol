// SPDX-License-Identifier: Apache-2.0
pragma solidity 0.8.37;

/// Counterparties for tests. Each misbehaves in one way.

abstract contract PretendBalance {
    function balanceOf(address) external pure virtual returns (uint256) {
        return 7;
    }
}

contract FalseToken is PretendBalance {
    function transfer(address, uint256) external pure returns (bool) {
        return false;
    }
}

contract RevertingToken is PretendBalance {
    function transfer(address, uint256) external pure {
        revert("no");
    }
}

contract GasBurningToken is PretendBalance {
    function transfer(address, uint256) external pure {
        assembly {
            invalid()
        }
    }
}

contract HugeAnswerToken is PretendBalance {
    function transfer(address, uint256) external pure {
        assembly {
            revert(0, 1000000)
        }
    }
}

contract UnreadableToken {
    function balanceOf(address) external pure {
        assembly {
            invalid()
        }
    }
}

contract ShortAnswerToken {
    function balanceOf(address) external pure {
        assembly {
            mstore(0, not(0))
            return(0, 31)
        }
    }
}

/// Logs transfers but moves no tokens.
contract LyingToken is PretendBalance {
    event Transfer(address indexed from, address indexed to, uint256 value);

    uint8 public constant decimals = 6;

    function transfer(address to, uint256 value) external returns (bool) {
        emit Transfer(msg.sender, to, value);
        return true;
    }
}

/// A working token, except for one holder whose transfers use up all gas.
contract PickyToken {
    address private immutable cursed;
    mapping(address => uint256) public balanceOf;

    constructor(address cursedForwarder) {
        cursed = cursedForwarder;
    }

    function mint(address to, uint256 value) external {
        balanceOf[to] += value;
    }

    function transfer(address to, uint256 value) external returns (bool) {
        if (msg.sender == cursed) {
            assembly {
                invalid()
            }
        }
        balanceOf[msg.sender] -= value;
        balanceOf[to] += value;
        return true;
    }
}

/// Sends like Solidity's old `transfer`: with the stipend of 2300 gas only.
contract PlainSender {
    function send(address payable to) external payable {
        (bool sent,) = to.call{value: msg.value, gas: 0}("");
        require(sent);
    }
}

contract RejectingTreasury {
    receive() external payable {
        revert("no");
    }
}

interface ISweep {
    function sweep(address treasury, address token, bytes32[] calldata salts, uint256 gasPerItem)
        external
        returns (uint256[] memory);
}

/// Sweeps the same forwarder again from inside the payment it receives.
contract ReentrantTreasury {
    ISweep private immutable factory;
    bytes32 private immutable salt;
    uint256 public received;

    constructor(ISweep sweeper, bytes32 ownSalt) {
        factory = sweeper;
        salt = ownSalt;
    }

    receive() external payable {
        received += 1;
        bytes32[] memory salts = new bytes32[](1);
        salts[0] = salt;
        factory.sweep(address(this), address(0), salts, gasleft());
    }
}
