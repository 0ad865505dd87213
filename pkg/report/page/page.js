// Sorts tables by the column whose heading is clicked or gets Enter: upwards, downwards, and as it was. Cells carry their
// number in data-key as a decimal string of any size; what has no number comes last in both directions.
'use strict';
(function () {
  // decimal returns {sign, infinite, exp, digits} for a number d.ddd * 10^exp, or null.
  function decimal(text) {
    if (/^[+-]?Inf$/.test(text)) {
      return { sign: text[0] === '-' ? -1 : 1, infinite: true };
    }
    var m = /^([+-]?)(\d*)\.?(\d*)(?:[eE]([+-]?\d+))?$/.exec(text);
    if (!m || m[2] + m[3] === '') {
      return null;
    }
    var all = m[2] + m[3], digits = all.replace(/^0+/, '');
    var exp = BigInt((m[4] || '0').replace(/^\+/, '')) + BigInt(m[2].length - 1 - (all.length - digits.length));
    digits = digits.replace(/0+$/, '');
    return { sign: digits === '' ? 0 : m[1] === '-' ? -1 : 1, infinite: false, exp: exp, digits: digits };
  }

  function compareNumbers(a, b) {
    if (a.sign !== b.sign || a.sign === 0) {
      return a.sign - b.sign;
    }
    if (a.infinite || b.infinite) {
      return a.sign * ((a.infinite ? 1 : 0) - (b.infinite ? 1 : 0));
    }
    if (a.exp !== b.exp) {
      return a.sign * (a.exp < b.exp ? -1 : 1);
    }
    return a.sign * (a.digits < b.digits ? -1 : a.digits > b.digits ? 1 : 0);
  }

  function compareTexts(a, b) {
    return a.localeCompare(b, 'en', { numeric: true });
  }

  function sort(table, column, direction) {
    var body = table.tBodies[0], head = table.tHead.rows[0].cells[column];
    var numeric = head.hasAttribute('data-number');
    var rows = table.order.map(function (row) {
      var cell = row.cells[column];
      return { row: row, key: numeric ? decimal(cell.getAttribute('data-key') || '') : cell.textContent };
    });
    if (direction) {
      rows.sort(function (a, b) {
        if (a.key === null || b.key === null) {
          return (a.key === null ? 1 : 0) - (b.key === null ? 1 : 0);
        }
        return direction * (numeric ? compareNumbers(a.key, b.key) : compareTexts(a.key, b.key));
      });
    }
    rows.forEach(function (r) { body.appendChild(r.row); });
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (th) { th.removeAttribute('aria-sort'); });
    if (direction) {
      head.setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
    }
  }

  Array.prototype.forEach.call(document.querySelectorAll('table.sortable'), function (table) {
    table.order = Array.prototype.slice.call(table.tBodies[0].rows);
    Array.prototype.forEach.call(table.tHead.rows[0].cells, function (th, column) {
      var button = document.createElement('button');
      button.type = 'button';
      button.textContent = th.textContent;
      th.textContent = '';
      th.appendChild(button);
      button.addEventListener('click', function () {
        var now = th.getAttribute('aria-sort');
        sort(table, column, now === 'ascending' ? -1 : now === 'descending' ? 0 : 1);
      });
    });
  });
})();
